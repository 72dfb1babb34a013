"""The query side with a model behind it; what it proposes is parsed and priced by rule."""
