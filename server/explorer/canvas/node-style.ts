// Draws elements as discs. Types with an index beyond the palette are hatched. These programs draw no second
// image for the pointer (`hit-test.ts`).
import type Sigma from 'sigma';
import type { NodeCircleProgram } from 'sigma/rendering';
import { DEFAULT_NODE_PROGRAM_CLASSES } from 'sigma/settings';

type Context = WebGLRenderingContext;

/**
 * Imported from the settings, because `sigma/rendering` also contains programs that are not used here.
 */
const Circle = DEFAULT_NODE_PROGRAM_CLASSES.circle as typeof NodeCircleProgram;

class Disc extends Circle {
  constructor(gl: Context, _pointer: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }
}

/** The last line of sigma's own shader, with transparent stripes. */
const whole = 'gl_FragColor = mix(v_color, transparent, t);';
const striped = `
  float stripe = fract((v_diffVector.x + v_diffVector.y) / v_radius * 1.3);
  gl_FragColor = mix(v_color * (stripe < 0.4 ? 0.25 : 1.0), transparent, t);`;

class HatchedDisc extends Disc {
  override getDefinition(): ReturnType<NodeCircleProgram['getDefinition']> {
    const definition = super.getDefinition();
    const { FRAGMENT_SHADER_SOURCE: source } = definition;
    return { ...definition, FRAGMENT_SHADER_SOURCE: source.replace(whole, striped) };
  }
}

export const discs = { circle: Disc, hatched: HatchedDisc };
