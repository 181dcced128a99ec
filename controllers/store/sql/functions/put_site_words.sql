create or replace function put_site_words(
  in_lease text, in_epoch bigint, in_site text, in_account text, in_input text, in_signature text
) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_words (site, account, input, signature) values (in_site, in_account, in_input, in_signature)
  on conflict (site) do update
  set account = excluded.account, input = excluded.input, signature = excluded.signature, kept_at = now();
end
$$;
