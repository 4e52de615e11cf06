// How elements are drawn: discs, those of the types behind the palette's last one hatched. Neither draws a second
// picture for the pointer (`hit-test.ts`).
import type Sigma from 'sigma';
import type { NodeCircleProgram } from 'sigma/rendering';
import { DEFAULT_NODE_PROGRAM_CLASSES } from 'sigma/settings';

type Context = WebGLRenderingContext;

/** Taken from the settings, as `sigma/rendering` brings programs that nothing here draws with. */
const Circle = DEFAULT_NODE_PROGRAM_CLASSES.circle as typeof NodeCircleProgram;

class Disc extends Circle {
  constructor(gl: Context, _pointer: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }
}

/** The last line of sigma's own shader, with stripes through which the ground is seen. */
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
