-- The host keys of every instance that is not over: who has the key of one machine could pass for another one.
create table devbox_host_keys (
  fingerprint text not null,
  resource text not null,
  constraint devbox_host_key primary key (fingerprint)
);
create index devbox_host_keys_of on devbox_host_keys (resource);

-- Of those that were attested before: where two have the same, the first keeps it.
insert into devbox_host_keys (fingerprint, resource)
select k.fingerprint, d.resource
from devboxes d, lateral jsonb_array_elements_text(coalesce(d.box -> 'hostKeys', '[]')) as k(fingerprint)
where d.deleted_at is null and d.box ->> 'state' <> 'terminated'
order by d.reserved_at
on conflict do nothing;
