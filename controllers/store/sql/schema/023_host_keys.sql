-- By which the same private key is known again without being opened: a MAC of it under a key that is not in here.
alter table host_credentials add column mark bytea;
-- With one more parameter, which a version that is still running leaves out.
drop function if exists put_host_credential(text, integer, bytea);
