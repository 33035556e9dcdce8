// Plays a binary glTF file that stands in the page, in the light, sky and ground of bridge/drawing/shaders.py.
import {
  AnimationMixer, Box3, Color, DirectionalLight, DoubleSide, Group, HemisphereLight, LoopOnce, Matrix4,
  Mesh, MeshLambertMaterial, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Scene, ShaderMaterial, Sphere, Vector3,
  WebGLRenderer,
} from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const WIDE = 4 / 3; // width by height of a window from which on the field of view is that of the camera
const SHADOW = 2048, STEP = 1.25, AROUND = 2.5; // as in bridge/drawing/light.py
const element = (id) => document.getElementById(id);
const meta = JSON.parse(element("meta").textContent);
const from = new URLSearchParams(location.hash.slice(1)); // #t=1.5 shows that moment, and waits

const uniforms = {
  sunward: { value: new Vector3(...meta.sun) }, fog: { value: meta.fog * meta.distance },
  zenith: { value: new Color(...meta.zenith) }, horizon: { value: new Color(...meta.horizon) },
};
const LIGHT = `
uniform vec3 sunward; uniform float fog; uniform vec3 zenith; uniform vec3 horizon;
vec3 heaven(vec3 d) { return mix(horizon, zenith, sqrt(clamp(d.y * 1.2, 0.0, 1.0))); }
vec3 shine(vec3 n, vec3 p, float sunlit) {
  vec3 v = normalize(cameraPosition - p), h = normalize(v + sunward);
  float glancing = 1.0 - max(dot(n, v), 0.0);
  glancing *= glancing;
  return vec3(pow(max(dot(n, h), 0.0), 48.0) * sunlit * 0.22) + 0.10 * glancing * glancing * heaven(reflect(-v, n));
}
vec3 hazy(vec3 c, vec3 p) {
  float far = max(length(p - cameraPosition) / fog - 0.22, 0.0) * 1.1;
  vec3 d = normalize(p - cameraPosition);
  return mix(c, heaven(vec3(d.x, max(d.y, 0.0), d.z)), 1.0 - exp(-far * far));
}
`;
const BOARD = `
uniform float tile; uniform vec3 light; uniform vec3 dark; varying vec2 at;
float board(vec2 x, vec2 w) { // the mean over a pixel, by the integral of the pattern
  w = max(w, vec2(1e-4));
  vec2 a = abs(fract((x - 0.5 * w) * 0.5) - 0.5), b = abs(fract((x + 0.5 * w) * 0.5) - 0.5), i = 2.0 * (a - b) / w;
  return 0.5 - 0.5 * i.x * i.y;
}
`;

/** Give a material our haze, and our shine where it is a body's, or a board's colours where it is a ground's. */
function lit(material, ground) {
  material.customProgramCacheKey = () => (ground ? "ground" : "body");
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms, ground);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\nvarying vec3 place; ${ground ? "varying vec2 at;" : ""}`)
      .replace("#include <project_vertex>", `#include <project_vertex>
        place = (modelMatrix * vec4(transformed, 1.0)).xyz; ${ground ? "at = transformed.xy;" : ""}`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 place; ${LIGHT} ${ground ? BOARD : ""}`)
      .replace("#include <map_fragment>", ground
        ? "vec2 s = at / tile; diffuseColor.rgb = mix(dark, light, board(s, max(abs(dFdx(s)), abs(dFdy(s)))));"
        : "#include <map_fragment>")
      .replace("#include <opaque_fragment>", `
        ${ground ? "" : `vec3 world = inverseTransformDirection(normal, viewMatrix);
        vec3 full = diffuseColor.rgb * vec3(1.0, 0.95, 0.87) * 0.8 * max(dot(world, sunward), 0.0);
        float share = dot(reflectedLight.directDiffuse, vec3(1.0)) / max(dot(full, vec3(1.0)), 1e-4);
        outgoingLight += shine(world, place, clamp(share, 0.0, 1.0));`}
        outgoingLight = hazy(outgoingLight, place);
        #include <opaque_fragment>`);
  };
  return material;
}

function heavens() {
  const sky = new ShaderMaterial({
    uniforms: { ...uniforms, unview: { value: new Matrix4() } }, depthWrite: false,
    vertexShader: "varying vec2 u; void main() { u = position.xy; gl_Position = vec4(position.xy, 1.0, 1.0); }",
    fragmentShader: `varying vec2 u; uniform mat4 unview; ${LIGHT}
      void main() {
        vec4 far = unview * vec4(u, 0.5, 1.0);
        gl_FragColor = vec4(heaven(normalize(far.xyz / far.w - cameraPosition)), 1.0);
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new Mesh(new PlaneGeometry(2, 2), sky);
  mesh.frustumCulled = false;
  mesh.onBeforeRender = (_, __, camera) => {
    sky.uniforms.unview.value.multiplyMatrices(camera.matrixWorld, camera.projectionMatrixInverse);
  };
  return mesh;
}

/** An endless plane: a large one, which stays below what is looked at, by whole pairs of tiles. */
function endless(ground) {
  const board = { tile: { value: ground.tile }, light: { value: new Color(...ground.light) },
    dark: { value: new Color(...ground.dark) } };
  const material = lit(new MeshLambertMaterial({ side: DoubleSide }), board);
  const size = 100 * meta.distance, mesh = new Mesh(new PlaneGeometry(size, size), material);
  const own = new Group(), under = new Vector3();
  own.applyMatrix4(new Matrix4().fromArray(ground.at).transpose());
  own.add(mesh);
  mesh.receiveShadow = true;
  mesh.onBeforeRender = () => {
    own.worldToLocal(under.copy(controls.target));
    mesh.position.set(...[under.x, under.y].map((x) => 2 * ground.tile * Math.round(x / (2 * ground.tile))), 0);
    mesh.updateMatrixWorld();
  };
  return own;
}

const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = PCFShadowMap;
element("view").append(renderer.domElement);
const scene = new Scene(), camera = new PerspectiveCamera(meta.fov, 1, 0.02 * meta.distance, 200 * meta.distance);
const controls = new OrbitControls(camera, renderer.domElement);
camera.position.set(...meta.eye);
controls.target.set(...meta.target);
controls.update();
const upright = new Group(); // z up
upright.rotation.x = -Math.PI / 2;
for (const ground of meta.grounds) upright.add(endless(ground));
const sky = new HemisphereLight(0, 0, Math.PI), sun = new DirectionalLight(0, 0.8 * Math.PI);
sky.color.setRGB(0.40, 0.45, 0.53);
sky.groundColor.setRGB(0.20, 0.185, 0.17);
sun.color.setRGB(1.0, 0.95, 0.87);
sun.castShadow = true;
sun.shadow.mapSize.set(SHADOW, SHADOW);
scene.add(heavens(), upright, sky, sun, sun.target);

const across = new Vector3(), along = new Vector3(), way = new Vector3(...meta.sun), center = new Vector3();
across.set(0, 1, 0).cross(way).normalize();
along.crossVectors(way, across);
const casting = []; // meshes with a sphere around each

/** The box of the shadow map, around what casts near the target; its width grows by steps, its texels stay in place. */
function shade() {
  const low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9], axes = [across, along, way];
  for (const [mesh, ball] of casting) {
    center.copy(ball.center).applyMatrix4(mesh.matrixWorld);
    if (center.distanceTo(controls.target) - ball.radius > AROUND * meta.distance) continue;
    axes.forEach((axis, k) => {
      low[k] = Math.min(low[k], center.dot(axis) - ball.radius);
      high[k] = Math.max(high[k], center.dot(axis) + ball.radius);
    });
  }
  if (low[0] > high[0]) return;
  const size = Math.max(high[0] - low[0], high[1] - low[1], 1e-3 * meta.distance);
  const width = STEP ** Math.ceil(Math.log(1.06 * size) / Math.log(STEP)), texel = width / SHADOW;
  const middle = [0, 1, 2].map((k) => (low[k] + high[k]) / 2).map((x, k) => (k < 2 ? texel * Math.round(x / texel) : x));
  const depth = high[2] - low[2] + 4 * size, box = sun.shadow.camera;
  sun.target.position.set(0, 0, 0);
  axes.forEach((axis, k) => sun.target.position.addScaledVector(axis, middle[k]));
  sun.position.copy(sun.target.position).addScaledVector(way, depth);
  sun.target.updateMatrixWorld();
  [box.left, box.right, box.bottom, box.top] = [-width / 2, width / 2, -width / 2, width / 2];
  [box.near, box.far] = [0.01 * depth, 2 * depth];
  box.updateProjectionMatrix();
  sun.shadow.normalBias = 1.5 * texel;
  sun.shadow.bias = -2e-4;
}

let mixer = null, action = null, time = 0, duration = 0, playing = false, speed = 1, followed = null;
const before = new Vector3(), now = new Vector3(), bodies = new Map();

function show(seconds) {
  time = Math.min(Math.max(seconds, 0), duration);
  if (action) {
    action.time = time;
    mixer.update(0);
  }
  element("bar").value = time;
  element("clock").textContent = `${time.toFixed(2)} s`;
}

function play(on) {
  playing = on && duration > 0;
  if (playing && time >= duration) show(0);
  element("play").innerHTML = playing ? "&#10074;&#10074;" : "&#9654;";
}

function follow(name) {
  followed = bodies.get(name) || null;
  if (followed) followed.getWorldPosition(before);
}

const looks = new Map();

/** The material of a file as ours is. */
function look(old) {
  if (!looks.has(old)) {
    looks.set(old, lit(new MeshLambertMaterial({
      color: old.color, map: old.map, vertexColors: old.vertexColors, transparent: old.transparent, opacity: old.opacity,
      side: old.side, depthWrite: !old.transparent,
    })));
  }
  return looks.get(old);
}

function received(gltf) {
  scene.add(gltf.scene);
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((node) => {
    if (node.isMesh) {
      node.material = look(node.material);
      node.castShadow = !node.material.transparent;
      node.receiveShadow = true;
      const box = new Box3().setFromBufferAttribute(node.geometry.attributes.position);
      casting.push([node, box.getBoundingSphere(new Sphere())]);
    } else if (meta.bodies.includes(node.userData.name)) {
      bodies.set(node.userData.name, node);
    }
  });
  if (gltf.animations.length) {
    mixer = new AnimationMixer(gltf.scene);
    action = mixer.clipAction(gltf.animations[0]);
    action.setLoop(LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    duration = gltf.animations[0].duration;
  }
  element("bar").max = duration;
  element("bars").hidden = duration === 0;
  for (const name of bodies.keys()) element("follow").add(new Option(name, name));
  element("follow").value = meta.follow || "";
  show(from.has("t") ? Number(from.get("t")) : 0);
  follow(meta.follow);
  if (followed) before.set(...meta.followed); // where it was when the camera was placed
  play(!from.has("t"));
  document.body.dataset.state = "ready";
}

function resize() {
  const { clientWidth: width, clientHeight: height } = element("view");
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  renderer.setSize(width, height);
  camera.aspect = width / Math.max(height, 1);
  const tangent = Math.tan((meta.fov * Math.PI) / 360) * Math.max(1, WIDE / camera.aspect); // narrow windows see as much
  camera.fov = (360 / Math.PI) * Math.atan(tangent);
  camera.updateProjectionMatrix();
}

let last = performance.now();
function frame(instant) {
  const elapsed = Math.min(Math.max(instant - last, 0) / 1000, 0.1);
  last = instant;
  if (playing) {
    show(time + elapsed * speed);
    if (time >= duration) element("again").checked ? show(0) : play(false);
  }
  scene.updateMatrixWorld();
  if (followed) {
    followed.getWorldPosition(now);
    camera.position.add(now).sub(before);
    controls.target.add(now).sub(before);
    before.copy(now);
  }
  controls.update();
  shade();
  renderer.render(scene, camera);
}

element("play").onclick = () => play(!playing);
element("bar").oninput = () => { play(false); show(Number(element("bar").value)); };
element("speed").onchange = () => { speed = Number(element("speed").value); };
element("follow").onchange = () => follow(element("follow").value);
addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (event.key === " ") play(!playing);
  else if (step) { play(false); show(time + step / meta.fps); }
  else return;
  event.preventDefault();
});
addEventListener("resize", resize);
resize();
const bytes = Uint8Array.from(atob(element("motion").textContent.trim()), (c) => c.charCodeAt(0));
new GLTFLoader().parse(bytes.buffer, "", received, (error) => {
  element("clock").textContent = `This page cannot be shown: ${error.message}`;
  document.body.dataset.state = "failed";
});
renderer.setAnimationLoop(frame);
