import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type PageParts = {
  /** Where the page's style sheet lies, and what it says. */
  sheet: { path: string; css: string }
  headers: Record<string, string> | undefined
  /** What is shown now. */
  html: () => string
}

/** One page and its style sheet, served as the API serves them, for a browser to look at. */
export const serveOnePage = async ({
  sheet,
  headers,
  html,
}: PageParts): Promise<{ baseURL: string; end(): Promise<void> }> => {
  const server = createServer((request, response) => {
    const isSheet = request.url === sheet.path
    response.writeHead(200, isSheet ? { 'content-type': 'text/css; charset=utf-8' } : headers)
    response.end(isSheet ? sheet.css : html())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    end: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
