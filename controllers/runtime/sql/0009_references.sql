-- An external_ref stands for one invoice of its account for ever, whatever the resource is called (spec/1 external_ref).
-- A claim that names one says so in what it was claimed with.
create unique index register_reference on register ((claimed ->> 'account'), (claimed ->> 'externalRef'))
  where claimed ? 'externalRef';
