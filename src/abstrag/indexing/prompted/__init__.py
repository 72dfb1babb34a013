"""The operators of the chain with a model behind them; the rules of local mode run first."""
