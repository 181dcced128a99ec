{{- define "bottega.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Labels of everything, given (dict "root" $ "component" "api"). */}}
{{- define "bottega.labels" -}}
{{ include "bottega.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: bottega
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "bottega.selector" -}}
app.kubernetes.io/name: bottega
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Name of the Secret that the processes read; hooks before the first install read a copy, given "copy" true. */}}
{{- define "bottega.secretName" -}}
{{- if .root.Values.secret.existingSecret -}}{{ .root.Values.secret.existingSecret }}
{{- else if .copy -}}bottega-setup{{- else -}}bottega{{- end -}}
{{- end -}}

{{- define "bottega.secretData" -}}
{{- $data := dict "database-url" .databaseUrl "api-database-url" .apiDatabaseUrl "secret-key" .secretKey "smtp-url" .smtpUrl "oidc-client-secret" .oidcClientSecret "llm-key" .llmKey "stripe-secret-key" .stripeSecretKey "stripe-webhook-secret" .stripeWebhookSecret -}}
{{- range $key, $value := $data }}{{ if $value }}
{{ $key }}: {{ $value | b64enc | quote }}
{{- end }}{{ end }}
{{- end -}}

{{/* One variable of the environment out of the Secret, given (dict "root" $ "name" "BOTTEGA_…" "key" "…" "copy" false). */}}
{{- define "bottega.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "bottega.secretName" . }}
      key: {{ .key }}
{{- end -}}

{{/* Where resources live. */}}
{{- define "bottega.resourceNamespace" -}}
{{- .Values.resourceNamespace | default .Release.Namespace -}}
{{- end -}}

{{/* Of the processes, and of the Job that reconciles: where resources live, and where the Lease is. */}}
{{- define "bottega.namespaces" -}}
- name: BOTTEGA_NAMESPACE
  value: {{ include "bottega.resourceNamespace" . | quote }}
- name: BOTTEGA_HOME_NAMESPACE
  value: {{ .Release.Namespace | quote }}
{{- with .Values.tenantNamespaces }}
- name: BOTTEGA_TENANTS
  value: "{{ range $index, $tenant := . }}{{ if $index }};{{ end }}{{ .name }}={{ join "," .accounts }}{{ end }}"
{{- end }}
{{- end -}}

{{/* What both processes are told. */}}
{{- define "bottega.environment" -}}
{{ include "bottega.namespaces" . }}
- name: BOTTEGA_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: BOTTEGA_LOG_LEVEL
  value: {{ .Values.logLevel }}
{{ include "bottega.secretVariable" (dict "root" . "name" "BOTTEGA_SECRET_KEY" "key" "secret-key") }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* The least that the `restricted` Pod Security Standard asks, and a root file system that nobody writes. */}}
{{- define "bottega.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "bottega.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Alive and ready, as the port for operators tells (not open to clients). */}}
{{- define "bottega.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 1
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 3
  timeoutSeconds: 3
{{- end -}}

{{/* Where pods go, given (dict "root" $ "component" "api" "values" .Values.api). */}}
{{- define "bottega.placement" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "bottega.selector" . | nindent 8 }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $.values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "bottega.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* A changed Secret of the chart's own rolls the pods; one of yours is read at their next start. */}}
{{- define "bottega.secretChecksum" -}}
{{- if not .Values.secret.existingSecret }}
checksum/secret: {{ include "bottega.secretData" .Values.secret | sha256sum }}
{{- end }}
{{- end -}}

{{/* A container of a hook that runs one script of the image, given (dict "root" $ "script" "controllers/setup.ts" …). */}}
{{- define "bottega.hookContainer" -}}
image: {{ include "bottega.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ .args | toJson }}
securityContext:
  {{- include "bottega.containerSecurity" . | nindent 2 }}
resources:
  requests: { cpu: 50m, memory: 96Mi }
  limits: { memory: 384Mi }
terminationMessagePolicy: FallbackToLogsOnError
{{- end -}}

{{/*
Ports and addresses of a rule of egress, given (dict "given" {cidrs, ports} "url" "smtp://…" "ports" (list 25)): what is said, or
else what the URL tells; an address that is a name may be any.
*/}}
{{- define "bottega.reach" -}}
{{- $place := regexReplaceAll "^[a-z]+://([^/]*@)?" (.url | default "") "" -}}
{{- $ports := .given.ports -}}
{{- if not $ports -}}
{{- $port := regexFind ":[0-9]{1,5}([/?]|$)" $place | trimAll ":/?" -}}
{{- $ports = ternary (list ($port | int)) .ports (ne $port "") -}}
{{- end -}}
{{- $cidrs := .given.cidrs -}}
{{- $literal := regexFind "^[0-9]{1,3}([.][0-9]{1,3}){3}" $place -}}
{{- if and (not $cidrs) $literal }}{{ $cidrs = list (printf "%s/32" $literal) }}{{ end -}}
ports: [{{ range $index, $port := $ports }}{{ if $index }}, {{ end }}{ port: {{ $port }}, protocol: TCP }{{ end }}]
{{- with $cidrs }}
to:
  {{- range . }}
  - ipBlock: { cidr: {{ . | quote }} }
  {{- end }}
{{- end }}
{{- end -}}

{{/* Rules of egress to the API server: the addresses that are said, or else those that the cluster has now. */}}
{{- define "bottega.apiServer" -}}
{{- with .Values.networkPolicy.apiServer -}}
{{- if .cidrs -}}
- ports: [{{ range $index, $port := .ports }}{{ if $index }}, {{ end }}{ port: {{ $port }}, protocol: TCP }{{ end }}]
  to:
    {{- range .cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
{{- else -}}
{{- $slice := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" -}}
{{- $service := lookup "v1" "Service" "default" "kubernetes" -}}
- ports: [{{ range $index, $port := $slice.ports }}{{ if $index }}, {{ end }}{ port: {{ $port.port }}, protocol: TCP }{{ end }}]
  to:
    {{- range $slice.endpoints }}
    {{- range .addresses }}
    - ipBlock: { cidr: "{{ . }}/{{ ternary 128 32 (contains ":" .) }}" }
    {{- end }}
    {{- end }}
- ports: [{ port: 443, protocol: TCP }]
  to:
    {{- range dig "spec" "clusterIPs" list $service }}
    - ipBlock: { cidr: "{{ . }}/{{ ternary 128 32 (contains ":" .) }}" }
    {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* All that is missing or does not go together, told at once. */}}
{{- define "bottega.demand" -}}
{{- $faults := list -}}
{{- with .Values -}}
{{- if not .publicUrl }}{{ $faults = append $faults "publicUrl: where clients reach the API, as https://billing.example.org" }}{{ end -}}
{{- if not .mail.from }}{{ $faults = append $faults "mail.from: the sender, as billing@example.org" }}{{ end -}}
{{- if .secret.existingSecret -}}
{{- range $name, $value := omit .secret "existingSecret" }}{{ if $value }}{{ $faults = append $faults (printf "secret.%s: not together with secret.existingSecret" $name) }}{{ end }}{{ end -}}
{{- else -}}
{{- if not .secret.databaseUrl }}{{ $faults = append $faults "secret.databaseUrl: postgresql://user:password@host:5432/bottega (or secret.existingSecret)" }}{{ end -}}
{{- if not .secret.apiDatabaseUrl }}{{ $faults = append $faults "secret.apiDatabaseUrl: postgresql://bottega_api:another@host:5432/bottega, a role of the api's own, made at install unless it is there (or secret.existingSecret)" }}{{ end -}}
{{- if not .secret.secretKey }}{{ $faults = append $faults "secret.secretKey: 32 random bytes, as from: openssl rand -base64 32 (or secret.existingSecret)" }}{{ end -}}
{{- if not .secret.smtpUrl }}{{ $faults = append $faults "secret.smtpUrl: smtp://user:password@host:587 (or secret.existingSecret)" }}{{ end -}}
{{- if and .oidc.issuer (not .secret.oidcClientSecret) }}{{ $faults = append $faults "secret.oidcClientSecret: OpenID Connect needs it" }}{{ end -}}
{{- if and .llm.url .llm.keyed (not .secret.llmKey) }}{{ $faults = append $faults "secret.llmKey: the language model needs it (or llm.keyed: false)" }}{{ end -}}
{{- if and .cards (not (and .secret.stripeSecretKey .secret.stripeWebhookSecret)) }}{{ $faults = append $faults "secret.stripeSecretKey, secret.stripeWebhookSecret: card collection needs both (or cards: false)" }}{{ end -}}
{{- end -}}
{{- if not (or (not (kindIs "invalid" .proxies)) .clientAddressHeader) }}{{ $faults = append $faults "proxies: how many proxies of yours stand before the api and append to X-Forwarded-For: 1 behind an ingress, 0 where clients reach the pods themselves (or clientAddressHeader: the header in which what stands in front tells a client's address). All limits of one address hang on it" }}{{ end -}}
{{- if and (not (kindIs "invalid" .proxies)) .clientAddressHeader }}{{ $faults = append $faults "proxies: not together with clientAddressHeader" }}{{ end -}}
{{- if kindIs "invalid" .resourceNamespace }}{{ $faults = append $faults "resourceNamespace: the namespace where resources live, made before: kubectl create namespace bottega-resources. Who holds the built-in role edit beside the pods reads their Secrets and makes their tokens, and so holds the platform; \"\" puts resources there all the same, where nobody but administrators has rights (and is the answer of an installation that never named one: it cannot be moved)" }}{{ end -}}
{{- range $name, $value := .settings -}}
{{- if has $name (splitList ", " (include "bottega.developmentSettings" $)) }}{{ $faults = append $faults (printf "settings.%s: is for development, and only an installation that hack/up made takes it: leave it out" $name) }}{{ end -}}
{{- if has $name (list "BOTTEGA_PROXIES" "BOTTEGA_CLIENT_ADDRESS_HEADER") }}{{ $faults = append $faults (printf "settings.%s: is proxies or clientAddressHeader of the chart" $name) }}{{ end -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not .networkPolicy.apiServer.cidrs) (not (lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes")) }}{{ $faults = append $faults "networkPolicy.apiServer.cidrs: the addresses of the API server, as kubectl get endpointslice kubernetes -n default tells; helm finds them by itself where it talks to the cluster (or networkPolicy.enabled: false)" }}{{ end -}}
{{- $bound := list $.Release.Namespace (include "bottega.resourceNamespace" $) | uniq -}}
{{- $accounts := list -}}
{{- range .tenantNamespaces -}}
{{- if has .name $bound }}{{ $faults = append $faults (printf "tenantNamespaces: %s is named twice, or is where the pods or the other resources are" .name) }}{{ end -}}
{{- $bound = append $bound .name -}}
{{- range .accounts }}{{ if has . $accounts }}{{ $faults = append $faults (printf "tenantNamespaces: the account %s is bound twice" .) }}{{ end }}{{ $accounts = append $accounts . }}{{ end -}}
{{- end -}}
{{- if .provisioner.enabled -}}
{{- range $name, $value := dict "existingSecret" .provisioner.existingSecret "installation" .provisioner.installation "ec2.region" .provisioner.ec2.region "ec2.subnet" .provisioner.ec2.subnet "ec2.securityGroups" .provisioner.ec2.securityGroups "ec2.keyName" .provisioner.ec2.keyName "ec2.images.arm64" .provisioner.ec2.images.arm64 "ec2.images.x86_64" .provisioner.ec2.images.x86_64 -}}
{{- if not $value }}{{ $faults = append $faults (printf "provisioner.%s: the provisioner needs it (or provisioner.enabled: false)" $name) }}{{ end -}}
{{- end -}}
{{- if eq .provisioner.existingSecret (include "bottega.secretName" (dict "root" $)) }}{{ $faults = append $faults "provisioner.existingSecret: another Secret than that of the processes, which are never to see what opens the cloud" }}{{ end -}}
{{- end -}}
{{- if ne (empty .oidc.issuer) (empty .oidc.clientId) }}{{ $faults = append $faults "oidc: issuer and clientId go together" }}{{ end -}}
{{- if ne (empty .llm.url) (empty .llm.model) }}{{ $faults = append $faults "llm: url and model go together" }}{{ end -}}
{{- end -}}
{{- if $faults }}{{ fail (printf "The chart needs these values:\n  %s" (join "\n  " $faults)) }}{{ end -}}
{{- end -}}
