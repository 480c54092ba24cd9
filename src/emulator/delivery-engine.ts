import type { DeliveryEngine, EmulatorContext } from './context.ts'

/** Makes the half of Event Grid that talks to subscribers. */
export function createDeliveryEngine(_context: EmulatorContext): DeliveryEngine {
  return {
    validate: async () => ({ outcome: 'validated' }),
    accept() {},
    subscriptionChanged() {},
    subscriptionDeleted() {},
    pending: () => 0,
    idle: async () => {},
    close: async () => {},
  }
}
