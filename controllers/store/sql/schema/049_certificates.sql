-- What a CA was asked a certificate for: each name when it first had a route on a host, or had one again after its certificate was
-- gone. CAs count by registered domain and week, and leave renewals out (hack/decisions/080).
create table certificate_orders (
  host text not null,
  hostname text not null,
  -- The directory of the CA; empty for the public default.
  ca text not null,
  -- The registered domain.
  root text not null,
  owner text not null,
  ordered_at timestamptz not null,
  primary key (host, hostname)
);
create index certificate_orders_of_root on certificate_orders (ca, root, ordered_at);
