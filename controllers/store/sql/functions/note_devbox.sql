-- Says in a dev instance's history what was done to it, under its next number. One of the same instance waits for the other.
create or replace function note_devbox(in_resource text, in_kind text, in_at timestamptz(3), in_by jsonb, in_data jsonb)
returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held devboxes;
begin
  select d.* into held from devboxes d where d.resource = in_resource for update;
  if found then
    insert into devbox_history (resource, n, kind, at, said_by, version, data)
    values (
      in_resource,
      coalesce((select max(h.n) from devbox_history h where h.resource = in_resource), 0) + 1,
      in_kind, in_at, in_by, (held.box ->> 'version')::bigint, in_data
    );
  end if;
end
$$;
