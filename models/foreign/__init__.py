"""Import of foreign files as descriptions: URDF, MJCF, Simscape Multibody XML, Modelica."""
