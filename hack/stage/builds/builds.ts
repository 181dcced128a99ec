import { importBuilder, LOCAL_BUILDER } from './builder.ts'
import { importGate, LOCAL_GATE } from './gate.ts'

/** What a Host of this machine names as the images of its builds. */
export const LOCAL_BUILDS = { builder: LOCAL_BUILDER, gate: LOCAL_GATE }

/** Gives both to the Docker behind a socket. @throws CommandRefusal with what Docker said */
export const importBuilds = async (socket: string, tool: (name: string) => string): Promise<void> => {
  await importBuilder(socket, tool)
  await importGate(socket)
}
