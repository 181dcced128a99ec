/**
 * Prints the code of all checks that the api asks for (api/http/reading/checks/write.ts). A process of its own: to know them takes all
 * routes, and whoever makes a bundle need not keep these.
 */
import { writeChecks } from '../../api/http/reading/checks/write.ts'
import { makeShape } from '../../api/http/shape.ts'
import { askedSchemas } from '../../api/http/validate.ts'
import { allRoutes } from '../../api/wiring/routes.ts'

makeShape(allRoutes)
process.stdout.write(writeChecks(askedSchemas()))
