-- What is kept of the words of sites, and of those of each account's other sites, by name; as many as a plan gives, twice over.
create or replace function observe_site_words(in_sites text[], in_accounts text[])
returns table (site text, words json, others json)
language plpgsql stable
as $$
begin
  return query
  select k.site,
    (select json_build_object('input', w.input, 'signature', w.signature) from site_words w where w.site = k.site),
    (
      select json_agg(json_build_object('site', o.site, 'signature', o.signature) order by o.site)
      from (
        select w.site, w.signature from site_words w
        where w.account = k.account and w.site <> k.site and w.signature is not null
        order by w.site limit 200
      ) o
    )
  from unnest(in_sites, in_accounts) as k(site, account);
end
$$;
