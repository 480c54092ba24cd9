import fc from 'fast-check'

const halves = { from: 0xd800, count: 0x800 }

/** Text of any characters there are, rare ones as often as usual ones. The unit `binary` of fast-check takes seconds to be made. */
export const anyText = (constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc
    .array(fc.nat(0x10ffff - halves.count), constraints)
    .map((points) => String.fromCodePoint(...points.map((at) => (at < halves.from ? at : at + halves.count))))
