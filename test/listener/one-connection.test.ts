/** Deliveries that come on one connection before the first is answered. Node 22 does not tell the others that the connection has closed. */
import { expect, it } from 'vitest'
import { createRoom } from '../../src/dispatch/room.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/open-connection.ts'
import { cloudEventText, type Opening, openListener, proofLine } from './open-listener.ts'

function headOf(contentLength: number): string {
  const lines = ['host: x', 'content-type: application/json', proofLine, `content-length: ${contentLength}`]
  return `POST /api/events HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

function delivery(id: string): string {
  const body = cloudEventText(id)
  return headOf(body.length) + body
}

/** A listener, and a connection on which the event `first` is being handled until the test ends the handlers. */
async function openBusyConnection(fastify?: Opening['fastify']) {
  const [called, hold, closed] = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const room = createRoom(24 * 1_048_576)
  const { listener, events, deliver } = await openListener({
    room,
    handler({ cloudEvent: { id } }) {
      called?.resolve()
      return id === 'at once' ? undefined : hold?.promise
    },
    fastify(server) {
      server.server.once('connection', (socket) => socket.once('close', () => closed?.resolve()))
      return fastify?.(server)
    },
  })
  const socket = await openConnection(listener.address.port, delivery('first'))
  await called?.promise
  return {
    ...{ room, socket, events, listener },
    endHandlers: () => hold?.resolve(),
    /** Delivers an event again once all former deliveries are over. Gives the status. */
    async redeliver(id: string) {
      await eventually(() => expect(room.used()).toBe(0))
      return (await deliver(cloudEventText(id), { 'aeg-delivery-count': '1' })).status
    },
    /** The sender goes, and the listener hears of that. */
    async leave() {
      socket.destroy()
      await closed?.promise
    },
  }
}

it('gives the room of a delivery back whose body is cut off behind another delivery', async () => {
  const { room, socket, leave, endHandlers } = await openBusyConnection()
  socket.write(`${headOf(4 * 1_048_576)}{`)
  await eventually(() => expect(room.used()).toBeGreaterThan(4 * 1_048_576))
  await leave()
  endHandlers()
  await eventually(() => expect(room.used()).toBe(0))
})

it('does not handle an event again whose sender went while it was handled behind another delivery', async () => {
  const { socket, events, redeliver, leave, endHandlers } = await openBusyConnection()
  socket.write(delivery('second'))
  await eventually(() => expect(events).toHaveLength(2))
  await leave()
  endHandlers()
  expect(await redeliver('second')).toBe(200)
  expect(events).toHaveLength(2)
})

it('does not handle an event again whose sender went while its answer waited behind another', async () => {
  const { socket, events, redeliver, listener, leave, endHandlers } = await openBusyConnection()
  socket.write(delivery('at once'))
  await eventually(() => expect(events).toHaveLength(2))
  await eventually(() => expect(listener.status().running).toBe(1))
  await leave()
  endHandlers()
  expect(await redeliver('at once')).toBe(200)
  expect(events).toHaveLength(2)
})

it('does not handle an event again whose sender went while a hook of the host held both answers back', async () => {
  const [held, release] = [0, 1].map(() => Promise.withResolvers<void>())
  let answers = 0
  const { socket, events, redeliver, listener, leave, endHandlers } = await openBusyConnection((server) => {
    server.addHook('onSend', async () => {
      if (++answers === 2) held?.resolve()
      await release?.promise
    })
  })
  socket.write(delivery('second'))
  await eventually(() => expect(events).toHaveLength(2))
  endHandlers()
  await held?.promise
  await leave()
  release?.resolve()
  expect(await redeliver('second')).toBe(200)
  expect(events).toHaveLength(2)
  expect(listener.status().answered).toEqual({ 200: 3 })
})

it('takes a hundred deliveries on one connection, and warns of nothing', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  const { room, socket, events, endHandlers } = await openBusyConnection()
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  for (let index = 0; index < 99; index++) socket.write(delivery(`event-${index}`))
  endHandlers()
  await eventually(() => expect(answers.match(/HTTP\/1.1 200/g)).toHaveLength(100))
  await eventually(() => expect(room.used()).toBe(0))
  expect(events).toHaveLength(100)
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
