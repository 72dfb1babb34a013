"""What pronouns and definite descriptions can refer to; the rules behind Coref."""
