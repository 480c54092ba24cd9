/** The application: whatever is posted to it is an event, and a 2xx acknowledges it. */
import { createServer } from 'node:http'

const port = 3000 // the --app-port of run

const server = createServer(async (request, response) => {
  // OPTIONS asks whether the application wants the events of the component.
  if (request.method === 'POST') console.log(request.url, Buffer.concat(await request.toArray()).toString())
  response.end()
})
server.on('error', (error) => {
  console.error(`port ${port} can't be used (${error.code}). Free it, or change it in app.mjs and in --app-port of run`)
  process.exitCode = 1
})
server.listen(port, '127.0.0.1', () => console.log(`the application listens on port ${port}`))
