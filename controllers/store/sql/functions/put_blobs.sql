-- in_blobs  [{sha256, bytes, start}], `start` being the offset of the blob's bytes in in_content.
create or replace function put_blobs(in_blobs json, in_content bytea) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  -- In the order of their hashes, so that two writers of the same blobs never wait in a circle.
  with given as materialized (
    select distinct on (b.sha256) decode(b.sha256, 'hex') as sha256, b.bytes, b.start
    from json_to_recordset(in_blobs) as b(sha256 text, bytes bigint, start bigint)
    order by b.sha256
  ),
  made as (
    insert into blobs (sha256, bytes)
    select g.sha256, g.bytes from given g
    order by g.sha256
    on conflict do nothing
    returning sha256
  )
  insert into blob_chunks (sha256, n, content)
  select g.sha256, n, substring(in_content from (g.start + n * 262144 + 1)::integer
    for least(262144, g.bytes - n * 262144)::integer)
  from made m
  join given g on g.sha256 = m.sha256,
  generate_series(0, (g.bytes + 262143) / 262144 - 1) as n;
end
$$;
