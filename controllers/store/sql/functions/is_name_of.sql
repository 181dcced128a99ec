-- Whether a hostname is that of a site's name: the domain itself, or the label below some base domain.
create or replace function is_name_of(in_name text, in_hostname text) returns boolean
language sql immutable
return in_hostname = in_name or strpos(in_name, '.') = 0 and split_part(in_hostname, '.', 1) = in_name;
