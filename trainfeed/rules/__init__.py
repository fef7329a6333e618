"""What AWS accepts, as data: one module per subject."""
