"""Jobs made of the parts above: audit logged predictions, compare learners, blend forecasters, select, separate."""
