/** A setting of the event subscription: a value, or back to Event Grid's own default. */

/** The metadata value `default`: the setting goes back to what Event Grid itself uses (docs/metadata.md). */
export const resetToDefault: unique symbol = Symbol('default')

/** A setting of the event subscription: a value, or back to the default. Absent: the setting in Azure is kept. */
export type Setting<T> = T | typeof resetToDefault
