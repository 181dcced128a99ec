/** What `format` of a schema stands for. */
import { isDay, isInstant } from '../../../../crds/values/calendar.ts'
import { isBase64 } from '../base64.ts'

export const formats = { date: isDay, 'date-time': isInstant, base64: isBase64 } as const
