"""What runs: the nodes of a cluster as they are, which flavor each belongs to, and what they lack."""
