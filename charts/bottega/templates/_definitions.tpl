{{- /* Made by hack/generate from crds/kinds.ts; edit that. */ -}}
{{- define "bottega.definitions" -}}
accounts.bottega.dev, invoices.bottega.dev, hosts.bottega.dev, sites.bottega.dev, apps.bottega.dev, devinstances.bottega.dev
{{- end -}}
