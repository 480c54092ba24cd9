/** The application: whatever is posted to it is an event, and a 2xx acknowledges it. */
import { createServer } from 'node:http'

createServer(async (request, response) => {
  // OPTIONS asks whether the application wants the events of the component.
  if (request.method === 'POST') console.log(request.url, Buffer.concat(await request.toArray()).toString())
  response.end()
}).listen(3000, '127.0.0.1', () => console.log('the application listens on port 3000'))
