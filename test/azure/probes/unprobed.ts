/** Facts that are assumed, or in part, and have no probe: why none can be. */
export const unprobed: Readonly<Record<string, string>> = {}
