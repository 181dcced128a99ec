-- Records how attempts ended: [{id, begun, state, status, latencyMs, fault, response, nextAt, isLast}] and, for some,
-- {gone: reason} and {mail: {kind, resource, account, purpose, messageId, payload}}. Only who holds the lease of an attempt ends it. The next attempt
-- is written with the end of the one before; an endpoint that is gone is told nothing more.
create or replace function settle_deliveries(in_results json, in_now timestamptz(3)) returns void
language plpgsql
as $$
#variable_conflict use_column
begin
  with given as materialized (
    select * from json_to_recordset(in_results) as g(
      id bigint, begun integer, state text, status integer, "latencyMs" integer, fault text, response text,
      "nextAt" timestamptz(3), "isLast" boolean, gone text, mail jsonb
    )
  ),
  ended as (
    update deliveries d set
      state = g.state, status = g.status, latency_ms = g."latencyMs", fault = g.fault, response = g.response,
      next_attempt_at = g."nextAt", due_at = null, lease_until = null, settled_at = in_now
    from given g
    where d.id = g.id and d.begun = g.begun and d.state = 'pending'
    returning d.id, d.endpoint, d.account, d.sequence, d.attempt, d.state, g.fault, g."nextAt", g."isLast", g.gone, g.mail
  ),
  -- Never attempted, through a fault of ours: nobody but us can mend that.
  aside as (
    insert into quarantine (source, source_id, kind, resource, account, reason, tries, at)
    select 'delivery', e.id, 'Endpoint', e.endpoint, e.account, e.fault, e.attempt, in_now
    from ended e where e.state = 'dead' and e.fault like 'NOT\_ATTEMPTED%'
    on conflict (source, source_id) where released_at is null do nothing
  ),
  again as (
    insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
    select e.endpoint, e.account, e.sequence, e.attempt + 1, e."isLast", e."nextAt", in_now
    from ended e where e."nextAt" is not null and e.gone is null
  ),
  stands as (
    select e.endpoint, bool_or(e.state = 'delivered') as works, max(e.fault) as fault, max(e.gone) as gone
    from ended e group by e.endpoint
  ),
  marked as (
    update webhook_endpoints w set
      failing_since = case when s.works then null else coalesce(w.failing_since, in_now) end,
      last_error = case when s.works then null else s.fault end,
      disabled_at = case when s.gone is null then w.disabled_at else coalesce(w.disabled_at, in_now) end,
      disabled_reason = case when s.gone is null then w.disabled_reason else coalesce(w.disabled_reason, s.gone) end,
      version = w.version + case when s.gone is null or w.disabled_at is not null then 0 else 1 end
    from stands s
    where w.id = s.endpoint and (
      s.gone is not null or s.works <> (w.failing_since is null) or (not s.works and w.last_error is distinct from s.fault)
    )
    returning w.id, w.disabled_at
  )
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  select distinct on (e.mail ->> 'resource', e.mail ->> 'purpose')
    e.mail ->> 'kind', e.mail ->> 'resource', e.mail ->> 'account', e.mail ->> 'purpose', 'mail', e.mail ->> 'messageId', e.mail -> 'payload', in_now, in_now
  from ended e where e.mail is not null and jsonb_typeof(e.mail) = 'object'
  on conflict (resource, purpose) do nothing;

  -- What an endpoint that was switched off still waits for.
  if exists (select from json_to_recordset(in_results) as r(gone text) where r.gone is not null) then
    update deliveries d set state = 'dead', fault = 'ENDPOINT_DISABLED', due_at = null, lease_until = null, settled_at = in_now
    where d.state = 'pending' and d.endpoint = any (array(
      select w.id
      from json_to_recordset(in_results) as r(id bigint, gone text)
      cross join lateral (select dd.endpoint from deliveries dd where dd.id = r.id limit 1) dd
      cross join lateral (select ww.id, ww.disabled_at from webhook_endpoints ww where ww.id = dd.endpoint limit 1) w
      where r.gone is not null and w.disabled_at is not null
    ));
  end if;
end
$$;
