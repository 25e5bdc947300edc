"""What a notebook uses: `check`, `hint`, `predict` and `progress`, their cards and controls, and what is remembered."""
