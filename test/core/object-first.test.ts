import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { Binding, type LogFields, type ObjectFirstLogger, objectFirst } from '../../src/index.ts'
import { openWorld } from '../support/open-world.ts'

it('adapts the logger of Fastify, which is pino: message, level, fields', async () => {
  const written: string[] = []
  const { log } = Fastify({ logger: { level: 'debug', stream: { write: (line: string) => void written.push(line) } } })
  const logger = objectFirst(log)
  logger.debug('one %s', { id: '1' })
  logger.info('two')
  logger.warn('three', { count: 3, gone: undefined })
  logger.error('four', { isLast: true })
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { level: 20, msg: 'one %s', id: '1' },
    { level: 30, msg: 'two' },
    { level: 40, msg: 'three', count: 3 },
    { level: 50, msg: 'four', isLast: true },
  ])
})

it('calls the methods on their logger, as bunyan needs it, with a binding too', async () => {
  class Own implements ObjectFirstLogger {
    readonly lines: [object, string][] = []
    debug(fields: LogFields, message: string) {
      this.lines.push([fields, message])
    }
    info = this.debug
    warn = this.debug
    error = this.debug
  }
  const own = new Own()
  const { init } = await openWorld({ binding: { logger: objectFirst(own) } })
  await init()
  expect(own.lines).toContainEqual([
    expect.objectContaining({ port: expect.any(Number) }),
    expect.stringMatching(/^listening/),
  ])
})

it('refuses what is no logger, and may be broken as any other', async () => {
  // @ts-expect-error a method is missing
  expect(() => objectFirst({ info() {} })).toThrow(TypeError)
  const broken = () => Promise.reject(new Error('no'))
  const logger = objectFirst({ debug: broken, info: broken, warn: broken, error: broken })
  const { init } = await openWorld({ binding: { logger } })
  await init()
  expect(new Binding({ logger }).health().status).toBe('unhealthy')
})
