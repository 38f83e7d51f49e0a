"""What other readers of ORC files read: features of files, and facts about readers."""
