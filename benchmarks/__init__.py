"""Speed as ratios: this project and every peer that is installed, side by side in one run."""
