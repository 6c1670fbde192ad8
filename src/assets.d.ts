// What applications import beside code. Loaded by whoever imports "tsweb" or "tsweb/browser".
declare module "*.css";
declare module "*.module.css" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.scss";
declare module "*.module.scss" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.less";
declare module "*.module.less" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.svg" {
  const address: string;
  export default address;
}
declare module "*.png" {
  const address: string;
  export default address;
}
declare module "*.jpg" {
  const address: string;
  export default address;
}
declare module "*.jpeg" {
  const address: string;
  export default address;
}
declare module "*.gif" {
  const address: string;
  export default address;
}
declare module "*.webp" {
  const address: string;
  export default address;
}
declare module "*.avif" {
  const address: string;
  export default address;
}
declare module "*.woff2" {
  const address: string;
  export default address;
}
declare module "*?url" {
  const address: string;
  export default address;
}
