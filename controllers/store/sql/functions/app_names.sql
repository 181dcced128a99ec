-- The names of an app, as its plan and its owner see them; which of in_wanted another site or app of the account has; and how many
-- links that somebody came by are over, by the platform's clock.
create or replace function app_names(in_app text, in_account text, in_wanted text[])
returns table (names json, taken json, links_ended integer)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
declare
  holder text := 'App/' || in_app;
begin
  return query
  select
    (
      select coalesce(json_agg(json_build_object(
        'name', n.name, 'settled', n.reserved_until is null, 'state', n.state, 'proof', n.proof,
        'changedAt', iso_ms(n.changed_at), 'seenAt', iso_ms(n.seen_at), 'missingSince', iso_ms(n.missing_since),
        'until', iso_ms(n.until), 'lookedAt', iso_ms(n.looked_at), 'dueAt', iso_ms(n.due_at), 'reason', n.reason, 'spare', n.spare,
        'checks', n.checks,
        'routed', exists (select from host_routes r where r.owner = holder and n.name = any (r.hostnames))
      ) order by n.name), '[]')
      from site_names n where n.site = holder and n.state <> 'quarantined'
    ),
    (
      select coalesce(json_agg(n.name order by n.name), '[]')
      from site_names n
      where n.account = in_account and n.name = any (in_wanted) and n.site <> holder and n.state <> 'quarantined' and not n.spare
        and (n.reserved_until is null or n.reserved_until > now())
    ),
    (
      select count(*)::integer from app_access_links l
      where l.app = in_app and (l.revoked_at is not null or l.expires_at <= platform_now())
        and exists (select from app_access_uses u where u.link = l.id)
    );
end
$$;
