"""Reading passages for concepts, classes, roles and events: behind AbsConcept and AbsEvent."""
