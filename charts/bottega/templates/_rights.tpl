{{- /* Made by hack/generate from crds/kernel/platform.ts; edit that. */ -}}
{{- define "bottega.rights.setup-keeping" -}}
- apiGroups:
    - apiextensions.k8s.io
  resources:
    - customresourcedefinitions
  verbs:
    - create
- apiGroups:
    - apiextensions.k8s.io
  resources:
    - customresourcedefinitions
  resourceNames:
    - accounts.bottega.dev
    - invoices.bottega.dev
    - hosts.bottega.dev
    - sites.bottega.dev
    - apps.bottega.dev
    - devinstances.bottega.dev
  verbs:
    - get
    - patch
{{- end -}}
{{- define "bottega.rights.setup-removing" -}}
- apiGroups:
    - apiextensions.k8s.io
  resources:
    - customresourcedefinitions
  verbs:
    - create
- apiGroups:
    - apiextensions.k8s.io
  resources:
    - customresourcedefinitions
  resourceNames:
    - accounts.bottega.dev
    - invoices.bottega.dev
    - hosts.bottega.dev
    - sites.bottega.dev
    - apps.bottega.dev
    - devinstances.bottega.dev
  verbs:
    - get
    - patch
    - delete
{{- end -}}
{{- define "bottega.rights.reconcile-resources-plan" -}}
- apiGroups:
    - bottega.dev
  resources:
    - accounts
    - invoices
    - hosts
    - sites
    - apps
    - devinstances
  verbs:
    - list
    - watch
{{- end -}}
{{- define "bottega.rights.reconcile-home-plan" -}}
- apiGroups:
    - coordination.k8s.io
  resources:
    - leases
  resourceNames:
    - bottega-controllers
  verbs:
    - get
{{- end -}}
{{- define "bottega.rights.reconcile-tenant-plan" -}}
- apiGroups:
    - bottega.dev
  resources:
    - invoices
    - sites
    - apps
    - devinstances
  verbs:
    - get
    - list
    - watch
{{- end -}}
{{- define "bottega.rights.reconcile-resources-apply" -}}
- apiGroups:
    - bottega.dev
  resources:
    - accounts
    - invoices
    - hosts
    - sites
    - apps
    - devinstances
  verbs:
    - list
    - watch
    - create
- apiGroups:
    - bottega.dev
  resources:
    - hosts
  verbs:
    - approve
- apiGroups:
    - bottega.dev
  resources:
    - accounts
  verbs:
    - use
    - update
{{- end -}}
{{- define "bottega.rights.reconcile-home-apply" -}}
- apiGroups:
    - coordination.k8s.io
  resources:
    - leases
  resourceNames:
    - bottega-controllers
  verbs:
    - get
    - patch
{{- end -}}
{{- define "bottega.rights.reconcile-tenant-apply" -}}
- apiGroups:
    - bottega.dev
  resources:
    - invoices
    - sites
    - apps
    - devinstances
  verbs:
    - get
    - list
    - watch
    - create
- apiGroups:
    - bottega.dev
  resources:
    - accounts
  verbs:
    - use
{{- end -}}
{{- define "bottega.rights.tenant-controllers" -}}
- apiGroups:
    - bottega.dev
  resources:
    - invoices
    - sites
    - apps
    - devinstances
  verbs:
    - get
    - list
    - watch
- apiGroups:
    - bottega.dev
  resources:
    - invoices/status
    - sites/status
    - apps/status
    - devinstances/status
  verbs:
    - patch
- apiGroups:
    - bottega.dev
  resources:
    - sites
    - apps
    - devinstances
  verbs:
    - patch
- apiGroups:
    - bottega.dev
  resources:
    - invoices
  verbs:
    - create
    - delete
- apiGroups:
    - bottega.dev
  resources:
    - apps
  verbs:
    - delete
- apiGroups:
    - bottega.dev
  resources:
    - devinstances
  verbs:
    - delete
- apiGroups:
    - events.k8s.io
  resources:
    - events
  verbs:
    - create
    - patch
- apiGroups:
    - ""
  resources:
    - namespaces
  resourceNames:
    - "{{ .tenant }}"
  verbs:
    - get
{{- end -}}
{{- define "bottega.rights.tenant-api" -}}
- apiGroups:
    - bottega.dev
  resources:
    - invoices
  verbs:
    - get
    - create
    - patch
    - delete
- apiGroups:
    - bottega.dev
  resources:
    - sites
  verbs:
    - get
    - create
    - patch
    - delete
- apiGroups:
    - bottega.dev
  resources:
    - apps
  verbs:
    - get
    - create
    - patch
    - delete
- apiGroups:
    - bottega.dev
  resources:
    - devinstances
  verbs:
    - get
    - create
    - patch
{{- end -}}
