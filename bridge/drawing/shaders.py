"""What the graphics card computes: light, shadow, sky and ground (GLSL 3.30).

Colours come and go as sRGB; light is added up linearly. Positions are relative to the picture's origin.
"""

from __future__ import annotations

LIGHT = """
uniform vec3 eye; uniform vec3 sun; uniform mat4 to_light; uniform sampler2DShadow shadow; uniform float texel;
uniform float bias; uniform vec3 zenith; uniform vec3 horizon; uniform float fog;
float lit(vec3 p, vec3 n) {
#if SHADOWS == 0
  return 1.0;
#else
  vec3 s = (to_light * vec4(p + n * bias, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  vec2 a = vec2(0.75, 0.25) * texel, b = vec2(-a.y, a.x);  // a turned square, between whose corners cards interpolate
  float sum = texture(shadow, vec3(s.xy + a, s.z)) + texture(shadow, vec3(s.xy - a, s.z))
    + texture(shadow, vec3(s.xy + b, s.z)) + texture(shadow, vec3(s.xy - b, s.z));
  vec2 edge = smoothstep(vec2(0.5), vec2(0.45), abs(s.xy - 0.5));
  return mix(1.0, 0.25 * sum, edge.x * edge.y);
#endif
}
vec3 sky(vec3 d) { return mix(horizon, zenith, sqrt(clamp(d.z * 1.2, 0.0, 1.0))); }
vec3 linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
vec3 encoded(vec3 c) {
  c = clamp(c, 0.0, 1.0);
  return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
vec3 matt(vec3 base, vec3 n, float sunlit) {
  vec3 ambient = mix(vec3(0.20, 0.185, 0.17), vec3(0.40, 0.45, 0.53), n.z * 0.5 + 0.5);
  return base * (ambient + vec3(1.0, 0.95, 0.87) * max(dot(n, sun), 0.0) * sunlit * 0.80);
}
vec3 shine(vec3 n, vec3 p, float sunlit) {
  vec3 v = normalize(eye - p), h = normalize(v + sun);
  float glancing = 1.0 - max(dot(n, v), 0.0);
  glancing *= glancing;
  return vec3(pow(max(dot(n, h), 0.0), 48.0) * sunlit * 0.22) + 0.10 * glancing * glancing * sky(reflect(-v, n));
}
vec3 hazy(vec3 c, vec3 p) {
  float far = max(length(p - eye) / fog - 0.22, 0.0) * 1.1;
  vec3 d = normalize(p - eye);
  return mix(c, sky(vec3(d.xy, max(d.z, 0.0))), 1.0 - exp(-far * far));
}
"""

BODY_VERTEX = """#version 330 core
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec4 paint;
layout(location = 3) in vec2 place;
layout(location = 4) in vec4 row0; layout(location = 5) in vec4 row1; layout(location = 6) in vec4 row2;
layout(location = 7) in vec4 color; layout(location = 8) in uint number;
uniform mat4 view;
out vec3 p; out vec3 n; out vec4 c; out vec2 uv; flat out uint id;
void main() {
  vec4 h = vec4(position, 1.0);
  p = vec3(dot(row0, h), dot(row1, h), dot(row2, h));
  n = vec3(dot(row0.xyz, normal), dot(row1.xyz, normal), dot(row2.xyz, normal));
  c = color * paint; uv = place; id = number;
  gl_Position = view * vec4(p, 1.0);
}
"""
BODY = """
in vec3 p; in vec3 n; in vec4 c; in vec2 uv; layout(location = 0) out vec4 result; uniform sampler2D picture;
void main() {
  vec3 m = normalize(n); if (!gl_FrontFacing) m = -m;
  vec4 t = texture(picture, uv) * c;
  float sunlit = dot(m, sun) > 0.0 ? lit(p, m) : 0.0;
  result = vec4(encoded(hazy(matt(linear(t.rgb), m, sunlit) + shine(m, p, sunlit), p)), t.a);
}
"""
NOTHING = """#version 330 core
void main() {}
"""
BODY_NUMBER = """#version 330 core
flat in uint id; layout(location = 0) out uint result;
void main() { result = id; }
"""

# A fan whose rim lies at infinity (w = 0), about a point of the plane that is a whole number of tiles away.
PLANE_VERTEX = """#version 330 core
layout(location = 0) in vec3 corner; uniform mat4 view; uniform vec3 along; uniform vec3 across; uniform vec3 middle;
out vec3 at; out vec4 q;
void main() {
  at = corner; q = vec4(along * corner.x + across * corner.y + middle * corner.z, corner.z);
  gl_Position = view * q;
}
"""
PLANE = """
in vec3 at; in vec4 q; layout(location = 0) out vec4 result;
uniform float tile; uniform vec3 light; uniform vec3 dark; uniform vec3 up;
float board(vec2 x, vec2 w) {  // the mean over a pixel, by the integral of the pattern
  w = max(w, vec2(1e-4));
  vec2 a = abs(fract((x - 0.5 * w) * 0.5) - 0.5), b = abs(fract((x + 0.5 * w) * 0.5) - 0.5), i = 2.0 * (a - b) / w;
  return 0.5 - 0.5 * i.x * i.y;
}
void main() {
  vec2 t = at.xy / at.z / tile, w = max(abs(dFdx(t)), abs(dFdy(t)));
  vec3 base = mix(dark, light, board(t, w)), p = q.xyz / q.w, m = dot(up, eye - p) < 0.0 ? -up : up;
  float sunlit = dot(m, sun) > 0.0 ? lit(p, m) : 0.0;
  result = vec4(encoded(hazy(matt(base, m, sunlit), p)), 1.0);
}
"""
PLANE_NUMBER = """#version 330 core
layout(location = 0) out uint result;
void main() { result = 1u; }
"""

SCREEN_VERTEX = """#version 330 core
out vec2 u;
void main() {
  u = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0;
  gl_Position = vec4(u, 1.0, 1.0);
}
"""
SKY = """
in vec2 u; layout(location = 0) out vec4 result; uniform mat4 unview;
void main() {
  vec4 far = unview * vec4(u, 0.5, 1.0);
  result = vec4(encoded(sky(normalize(far.xyz / far.w - eye))), 1.0);
}
"""

# Lines are rectangles of so many pixels' width: forward compatible contexts draw no wide ones.
LINE_VERTEX = """#version 330 core
layout(location = 0) in vec3 start; layout(location = 1) in vec3 end; layout(location = 2) in vec4 color;
layout(location = 3) in float width; uniform mat4 view; uniform vec2 size; out vec4 c;
void main() {
  vec4 a = view * vec4(start, 1.0), b = view * vec4(end, 1.0); float least = 1e-3;
  if (a.w < least) a = mix(a, b, (least - a.w) / (b.w - a.w));
  if (b.w < least) b = mix(b, a, (least - b.w) / (a.w - b.w));
  vec2 s = (b.xy / b.w - a.xy / a.w) * size, t = length(s) > 1e-6 ? normalize(s) : vec2(1, 0), m = vec2(-t.y, t.x);
  vec2 k = vec2(gl_VertexID & 1, (gl_VertexID >> 1) & 1);
  vec4 e = mix(a, b, k.x);
  e.xy += (m * (k.y * 2.0 - 1.0) + t * (k.x * 2.0 - 1.0) * 0.5) * width / size * e.w;
  gl_Position = e; c = color;
}
"""
LINE = """#version 330 core
in vec4 c; layout(location = 0) out vec4 result; uniform float strength;
void main() { result = vec4(c.rgb, c.a * strength); }
"""


def variant(body: str, shadows: bool) -> str:
    """A fragment shader under our light; software skips no branches, so that what is left out is another shader."""
    return f"#version 330 core\n#define SHADOWS {int(shadows)}\n{LIGHT}{body}"
