-- The PDFs of one invoice, newest first: of each send, and of what was stamped or credited since.
create or replace function documents_of(in_resource text)
returns table (sha256 text, at text, kind text, number text, bytes bigint, enclosure jsonb)
language sql stable
as $$
  select encode(d.sha256, 'hex'), iso_ms(d.at), d.kind, d.frozen ->> 'number', d.bytes, d.frozen -> 'einvoice'
  from (
    select s.sha256, s.at, 'invoice' as kind, s.frozen, s.bytes, s.n::bigint as place
    from sends s where s.resource = in_resource
    union all
    select s.sha256, s.at, case when s.frozen ->> 'kind' = 'credit_note' then 'credit_note' else s.id end, s.frozen, s.bytes, f.seq
    from snapshots s
    join facts f on f.resource = s.resource and f.key = 'snapshot:' || s.id
    where s.resource = in_resource
  ) d
  order by d.at desc, d.kind = 'invoice', d.place desc
$$;
