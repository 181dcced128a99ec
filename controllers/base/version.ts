/** The version of this build, as package.json says. */
import packageJson from '../../package.json' with { type: 'json' }

export const VERSION: string = packageJson.version
