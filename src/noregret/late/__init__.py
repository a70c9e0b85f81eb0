"""Labels that come late: a round is predicted when its row comes, and learned from when its label does."""
