{{- /* Made by hack/generate from controllers/base/env.ts and crds/values/address.ts; edit that. */ -}}
{{- define "bottega.developmentSettings" -}}
BOTTEGA_DEV_CLOCK, BOTTEGA_EGRESS_ALLOW_LOOPBACK, BOTTEGA_STRIPE_API_BASE
{{- end -}}
{{- define "bottega.publicBlocks" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      - 0.0.0.0/8
      - 10.0.0.0/8
      - 100.64.0.0/10
      - 127.0.0.0/8
      - 169.254.0.0/16
      - 172.16.0.0/12
      - 192.0.0.0/24
      - 192.0.2.0/24
      - 192.88.99.0/24
      - 192.168.0.0/16
      - 198.18.0.0/15
      - 198.51.100.0/24
      - 203.0.113.0/24
      - 224.0.0.0/3
- ipBlock:
    cidr: 2000::/3
    except:
      - 2001::/23
      - 2001:db8::/32
      - 2002::/16
      - 3fff::/20
{{- end -}}
