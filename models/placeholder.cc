// replaced by the first architecture
