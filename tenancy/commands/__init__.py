"""What each command does. A module here may import heavily: the command line imports it only when its command runs."""
