-- Why nobody leads by a database that belongs to no place: the cluster knows of more than it, and it is empty. Gone once it is bound.
create table unbound_disagreement (
  one boolean primary key default true check (one),
  disagreement jsonb not null
);
