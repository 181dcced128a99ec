/**
 * Further names under which services find each other, once all of them are known (checking/names.ts reads them).
 */
import type { ServiceLink } from '../checking/names.ts'
import type { ParsedService } from '../checking/service.ts'
import type { ValidationContext } from '../reading/validation.ts'

type Named = Map<string, ParsedService>

const addDependency = (parsed: ParsedService, { service: name, at }: ServiceLink): void => {
  if (parsed.dependsOn.some((dependency) => dependency.name === name)) return
  parsed.dependsOn.push({ name, condition: 'service_started', restart: false, required: true, at })
}

/** Puts links in place, and takes away aliases that are names of services: those mean the services. */
export const settleNames = (validation: ValidationContext, parsedServices: Named): void => {
  for (const parsed of parsedServices.values()) {
    for (const link of parsed.links) {
      addDependency(parsed, link)
      const target = parsedServices.get(link.service)
      if (!target || link.alias === link.service) continue
      if (parsedServices.has(link.alias)) {
        const detail = 'The name that it gives is that of another service.'
        validation.refuse(link.at, 'value', detail, 'Call the services by their names, and remove the link.')
      }
      target.aliases.push(link.alias)
    }
  }
  for (const parsed of parsedServices.values()) {
    parsed.aliases = [...new Set(parsed.aliases)].filter((alias) => !parsedServices.has(alias)).sort()
  }
}
