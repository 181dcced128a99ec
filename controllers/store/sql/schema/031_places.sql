-- In which namespace a resource lives, where those of some accounts have one of their own: a name is one resource's in all of
-- them (hack/decisions/057). Empty where there is one namespace.
create table places (
  kind text not null,
  name text not null,
  namespace text not null,
  account text not null,
  -- Empty: reserved, and not seen yet.
  uid text not null,
  primary key (kind, name)
);
create index places_of_namespace on places (namespace);

-- Which namespaces are served just now. Of what lives in another one nothing is said, and nothing is forgotten.
create table place_namespaces (
  namespace text primary key,
  served boolean not null
);
