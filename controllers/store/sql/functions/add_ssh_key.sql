-- Adds a public key to an account. Gives 'added', 'known' with the id of the one that it has already, or 'full' when it has in_max.
create or replace function add_ssh_key(
  in_account text, in_id text, in_name text, in_line text, in_fingerprint text, in_at timestamptz(3), in_max integer
)
returns table (outcome text, id text)
language plpgsql
as $$
begin
  perform account_lock('account_ssh_keys', in_account);
  select k.id into id from account_ssh_keys k where k.account = in_account and k.fingerprint = in_fingerprint;
  if found then
    outcome := 'known';
  elsif (select count(*) from account_ssh_keys k where k.account = in_account) >= in_max then
    outcome := 'full';
  else
    insert into account_ssh_keys (id, account, name, line, fingerprint, changed_at)
    values (in_id, in_account, in_name, in_line, in_fingerprint, in_at);
    outcome := 'added';
    id := in_id;
  end if;
  return next;
end
$$;
