//! What the painter promises: each pixel once, egui's blending, clips, textures, and the short ways equal to the long.

use std::sync::Arc;

use egui::epaint::textures::TexturesDelta;
use egui::epaint::{ClippedPrimitive, ImageDelta, Mesh, PaintCallback, Primitive, Vertex};
use egui::{Color32, ColorImage, Pos2, Rect, TextureId, TextureOptions, pos2, vec2};
use proptest::prelude::*;

use super::{Image, Textures, paint};

const SIZE: u32 = 24;
/// Adds one level of red each time that a pixel is painted.
const COUNTING: Color32 = Color32::from_rgb_additive(1, 0, 0);
const TRANSLUCENT: Color32 = Color32::from_rgba_premultiplied(90, 17, 3, 131);
const FONT: TextureId = TextureId::Managed(0);
const OTHER: TextureId = TextureId::Managed(1);

fn apply(textures: &mut Textures, id: TextureId, change: ImageDelta) {
    let mut delta = TexturesDelta::default();
    delta.push(id, change);
    textures.apply(&mut delta);
}

/// A white texel as in egui's own texture, then texels that are all different.
fn font() -> Textures {
    let texels = (0..64_u8).map(|i| Color32::from_rgba_premultiplied(i, 2 * i, 3 * i, 4 * i.max(1) - 1));
    let mut texels = texels.collect::<Vec<_>>();
    texels[0] = Color32::WHITE;
    let mut textures = Textures::default();
    apply(&mut textures, FONT, ImageDelta::full(ColorImage::new([8, 8], texels), TextureOptions::LINEAR));
    textures
}

fn unclipped(mesh: Mesh) -> ClippedPrimitive {
    ClippedPrimitive { clip_rect: Rect::EVERYTHING, primitive: Primitive::Mesh(mesh) }
}

fn painted(meshes: impl IntoIterator<Item = Mesh>, pixels_per_point: f32, clear: Color32) -> Image {
    let primitives = meshes.into_iter().map(unclipped).collect::<Vec<_>>();
    paint(&primitives, &font(), [SIZE, SIZE], pixels_per_point, clear)
}

fn triangle(corners: [Pos2; 3], colors: [Color32; 3]) -> Mesh {
    let vertices = corners.into_iter().zip(colors).map(|(pos, color)| Vertex::untextured(pos, color)).collect();
    Mesh { indices: vec![0, 1, 2], vertices, texture_id: FONT }
}

fn rectangle(rect: Rect, color: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(rect, color);
    mesh
}

fn textured(rect: Rect, texels: Rect, color: Color32) -> Mesh {
    let mut mesh = Mesh::with_texture(FONT);
    mesh.add_rect_with_uv(rect, Rect::from_min_max(texels.min / 8.0, texels.max / 8.0), color);
    mesh
}

/// The triangles of a mesh one by one, so that no rectangle can be seen in them.
fn apart(mesh: &Mesh) -> impl Iterator<Item = Mesh> {
    mesh.indices.chunks(3).map(|indices| Mesh { indices: indices.to_vec(), ..mesh.clone() })
}

fn red(levels: u8) -> Color32 {
    Color32::from_rgba_premultiplied(levels, 0, 0, 0)
}

fn position() -> impl Strategy<Value = f32> {
    // Halves are pixel centres, where it matters what an edge owns.
    prop_oneof![(0..=2 * SIZE).prop_map(|halves| halves as f32 / 2.0), 0.0..SIZE as f32]
}

fn scale() -> impl Strategy<Value = f32> {
    prop::sample::select(vec![1.0_f32, 1.25, 1.5, 1.7, 2.0])
}

proptest! {
    #[test]
    fn triangles_around_a_point_cover_each_pixel_once(
        x in position(), y in position(), splits in prop::collection::vec(position(), 4), scale in scale()
    ) {
        let end = SIZE as f32;
        let outline = [
            pos2(0.0, 0.0), pos2(splits[0], 0.0), pos2(end, 0.0), pos2(end, splits[1]), pos2(end, end),
            pos2(splits[2], end), pos2(0.0, end), pos2(0.0, splits[3]),
        ];
        let fan = outline.iter().zip(outline.iter().cycle().skip(1)).enumerate().map(|(i, (a, b))| {
            // In both windings, beginning with any corner.
            let mut corners = [*a, *b, pos2(x, y)].map(|corner| corner / scale);
            if i % 2 == 0 { corners.swap(0, 1); }
            corners.rotate_left(i % 3);
            triangle(corners, [COUNTING; 3])
        });
        let image = painted(fan, scale, Color32::TRANSPARENT);
        prop_assert_eq!(image.difference(&Image::filled([SIZE, SIZE], red(1)), 0), 0);
    }

    #[test]
    fn rectangles_side_by_side_share_no_pixel_and_leave_none(
        mut x in prop::collection::vec(position(), 4), y in position(), scale in scale()
    ) {
        x.extend([0.0, SIZE as f32]);
        x.sort_by(f32::total_cmp);
        let mut mesh = Mesh::default();
        for x in x.windows(2) {
            for [top, bottom] in [[0.0, y], [y, SIZE as f32]] {
                let rect = Rect::from_min_max(pos2(x[0], top), pos2(x[1], bottom));
                mesh.add_colored_rect(rect / scale, COUNTING);
            }
        }
        let image = painted([mesh], scale, Color32::TRANSPARENT);
        prop_assert_eq!(image.difference(&Image::filled([SIZE, SIZE], red(1)), 0), 0);
    }

    #[test]
    fn a_rectangle_is_what_its_triangles_are(
        a in position(), b in position(), c in position(), d in position(), scale in scale()
    ) {
        let rect = Rect::from_two_pos(pos2(a, b), pos2(c, d)) / scale;
        for color in [TRANSLUCENT, Color32::BROWN, COUNTING] {
            let mesh = rectangle(rect, color);
            let at_once = painted([mesh.clone()], scale, Color32::KHAKI);
            prop_assert_eq!(at_once.difference(&painted(apart(&mesh), scale, Color32::KHAKI), 0), 0);
        }
    }

    #[test]
    fn a_glyph_is_what_its_triangles_are(
        x in -4..SIZE as i32, y in -4..SIZE as i32, left in 0..7_u8, top in 0..7_u8, width in 1..8_u8, height in 1..8_u8,
        scale in scale()
    ) {
        let texels = Rect::from_min_size(
            pos2(left.into(), top.into()),
            vec2(width.min(8 - left).into(), height.min(8 - top).into()),
        );
        let rect = Rect::from_min_size(pos2(x as f32, y as f32), texels.size());
        for color in [TRANSLUCENT, Color32::WHITE] {
            let mesh = textured(rect / scale, texels, color);
            let at_once = painted([mesh.clone()], scale, Color32::KHAKI);
            // Positions in the texture are computed in a different order.
            prop_assert_eq!(at_once.difference(&painted(apart(&mesh), scale, Color32::KHAKI), 1), 0);
        }
    }
}

#[test]
fn upper_and_left_edges_own_the_centres_on_them() {
    let square = rectangle(Rect::from_min_max(pos2(2.5, 3.5), pos2(5.5, 7.5)), Color32::RED);
    for meshes in [vec![square.clone()], apart(&square).collect()] {
        let image = painted(meshes, 1.0, Color32::BLACK);
        let red = |x, y| image.pixel(x, y) == Color32::RED;
        assert!(red(2, 3) && red(4, 3) && red(2, 6) && red(4, 6));
        assert!(!red(1, 3) && !red(5, 3) && !red(2, 2) && !red(2, 7));
    }
}

#[test]
fn blending_is_that_of_premultiplied_colors_as_stored() {
    let whole = Rect::from_min_size(Pos2::ZERO, vec2(SIZE as f32, SIZE as f32));
    for (source, target, blended) in [
        ([10, 20, 30, 255], [200, 100, 50, 255], [10, 20, 30, 255]),
        ([128, 0, 0, 128], [255, 255, 255, 255], [255, 127, 127, 255]),
        ([64, 32, 0, 64], [0, 0, 0, 0], [64, 32, 0, 64]),
        ([64, 32, 0, 64], [100, 100, 100, 100], [139, 107, 75, 139]),
        ([100, 1, 0, 0], [200, 100, 50, 255], [255, 101, 50, 255]),
        ([0, 0, 0, 0], [200, 100, 50, 255], [200, 100, 50, 255]),
    ] {
        let color = |[r, g, b, a]: [u8; 4]| Color32::from_rgba_premultiplied(r, g, b, a);
        let image = painted([rectangle(whole, color(source))], 1.0, color(target));
        assert_eq!(image.difference(&Image::filled([SIZE, SIZE], color(blended)), 0), 0, "{source:?} over {target:?}");
    }
}

#[test]
fn colors_change_evenly_between_corners() {
    let corners = [pos2(0.0, 0.0), pos2(20.0, 0.0), pos2(0.0, 20.0)];
    let image = painted([triangle(corners, [red(0), red(200), red(0)])], 1.0, Color32::TRANSPARENT);
    // The centre of pixel 19 lies on the right edge, and is no more in it.
    for x in 0..19 {
        // Centres lie half a pixel after the corner at 0, where each pixel adds 10.
        assert_eq!(image.pixel(x, 0).r(), 10 * x as u8 + 5);
    }
    assert_eq!(image.pixel(3, 10), image.pixel(3, 0));
}

#[test]
fn only_pixels_within_the_clip_rectangle_change() {
    let mesh = rectangle(Rect::from_min_max(pos2(-9.0, -9.0), pos2(99.0, 99.0)), Color32::RED);
    for (meshes, scale) in [(vec![mesh.clone()], 1.5), (apart(&mesh).collect(), 1.5), (vec![mesh], 2.0)] {
        // At 1.5 pixels a point 2.5 is pixel 3.75, which is rounded.
        let clip_rect = Rect::from_min_max(pos2(2.5, 1.0), pos2(6.0, 99.0));
        let primitives = meshes.into_iter().map(|mesh| ClippedPrimitive { clip_rect, ..unclipped(mesh) });
        let image = paint(&primitives.collect::<Vec<_>>(), &font(), [SIZE, SIZE], scale, Color32::BLACK);
        let pixel = |points: f32| (points * scale).round() as usize;
        for y in 0..SIZE as usize {
            for x in 0..SIZE as usize {
                let inside = (pixel(2.5)..pixel(6.0)).contains(&x) && y >= pixel(1.0);
                assert_eq!(image.pixel(x, y) == Color32::RED, inside, "{x}, {y} at {scale}");
            }
        }
    }
}

#[test]
fn a_clip_rectangle_that_is_empty_or_elsewhere_hides_all() {
    let mesh = || rectangle(Rect::EVERYTHING, Color32::RED);
    for clip_rect in [Rect::NOTHING, Rect::NAN, Rect::from_min_max(pos2(90.0, 0.0), pos2(99.0, 9.0))] {
        let primitives = [ClippedPrimitive { clip_rect, ..unclipped(mesh()) }];
        let image = paint(&primitives, &font(), [SIZE, SIZE], 1.0, Color32::BLACK);
        assert_eq!(image.difference(&Image::filled([SIZE, SIZE], Color32::BLACK), 0), 0, "{clip_rect:?}");
    }
}

#[test]
fn a_part_of_a_texture_can_be_replaced() {
    let mut textures = font();
    let mut file = ColorImage::filled([2, 1], Color32::RED);
    file.pixels[1] = Color32::BLUE;
    apply(&mut textures, FONT, ImageDelta::partial([3, 5], file, TextureOptions::LINEAR));
    let whole = Rect::from_min_size(Pos2::ZERO, vec2(8.0, 8.0));
    let show = |textures: &Textures| {
        paint(&[unclipped(textured(whole, whole, Color32::WHITE))], textures, [8, 8], 1.0, Color32::BLACK)
    };
    let (before, after) = (show(&font()), show(&textures));
    assert_eq!([after.pixel(3, 5), after.pixel(4, 5)], [Color32::RED, Color32::BLUE]);
    assert_eq!(before.difference(&after, 0), 2);
}

#[test]
fn a_freed_texture_can_be_painted_until_the_next_frame() {
    let mut textures = Textures::default();
    let mut delta = TexturesDelta::default();
    delta.push(OTHER, ImageDelta::full(ColorImage::filled([1, 1], Color32::WHITE), TextureOptions::NEAREST));
    delta.free(OTHER);
    textures.apply(&mut delta);
    let mut mesh = Mesh::with_texture(OTHER);
    mesh.add_rect_with_uv(Rect::EVERYTHING, Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0)), Color32::RED);
    mesh.vertices.iter_mut().for_each(|vertex| vertex.pos = vertex.pos.clamp(Pos2::ZERO, pos2(9.0, 9.0)));
    let primitives = [unclipped(mesh)];
    let mut first_pixel = || {
        let pixel = paint(&primitives, &textures, [1, 1], 1.0, Color32::BLACK).pixel(0, 0);
        textures.apply(&mut TexturesDelta::default());
        pixel
    };
    assert_eq!(first_pixel(), Color32::RED);
    assert_eq!(first_pixel(), Color32::BLACK, "painted with a texture that is no more");
}

#[test]
fn texels_are_filtered_and_wrapped_as_the_texture_says() {
    let black_and_white = || ColorImage::new([2, 1], vec![Color32::BLACK, Color32::WHITE]);
    let show = |options, right| {
        let mut textures = Textures::default();
        apply(&mut textures, OTHER, ImageDelta::full(black_and_white(), options));
        let mut mesh = Mesh::with_texture(OTHER);
        let shown = Rect::from_min_max(Pos2::ZERO, pos2(right, 1.0));
        mesh.add_rect_with_uv(Rect::from_min_size(Pos2::ZERO, vec2(8.0, 1.0)), shown, Color32::WHITE);
        let image = paint(&[unclipped(mesh)], &textures, [8, 1], 1.0, Color32::BLACK);
        image.pixels().iter().map(Color32::r).collect::<Vec<_>>()
    };
    assert_eq!(show(TextureOptions::NEAREST, 1.0), [0, 0, 0, 0, 255, 255, 255, 255]);
    // Between the texels' centres, at pixels 2 and 6, an eighth and then a quarter more for each pixel.
    assert_eq!(show(TextureOptions::LINEAR, 1.0), [0, 0, 32, 96, 159, 223, 255, 255]);
    assert_eq!(show(TextureOptions::NEAREST, 2.0), [0, 0, 255, 255, 255, 255, 255, 255]);
    assert_eq!(show(TextureOptions::NEAREST_REPEAT, 2.0), [0, 0, 255, 255, 0, 0, 255, 255]);
    assert_eq!(show(TextureOptions::NEAREST_MIRRORED_REPEAT, 2.0), [0, 0, 255, 255, 255, 255, 0, 0]);
}

#[test]
fn far_and_broken_shapes_do_no_harm() {
    let far = [pos2(-1e7, -1e7), pos2(1e7, -1e7), pos2(0.0, 3e7)];
    let image = painted([triangle(far, [COUNTING; 3])], 2.0, Color32::TRANSPARENT);
    assert_eq!(image.difference(&Image::filled([SIZE, SIZE], red(1)), 0), 0);

    let endless = [pos2(0.0, 0.0), pos2(f32::INFINITY, 0.0), pos2(f32::NAN, 9.0)];
    let line = [pos2(0.0, 0.0), pos2(5.0, 5.0), pos2(10.0, 10.0)];
    let mut dangling = triangle(far, [Color32::RED; 3]);
    dangling.indices = vec![0, 1, 7, 0, 1];
    let broken = [triangle(endless, [Color32::RED; 3]), triangle(line, [Color32::RED; 3]), dangling];
    let image = painted(broken, 1.0, Color32::BLACK);
    assert_eq!(image.difference(&Image::filled([SIZE, SIZE], Color32::BLACK), 0), 0);
}

#[test]
fn callbacks_are_skipped() {
    let callback = PaintCallback { rect: Rect::EVERYTHING, callback: Arc::new(()) };
    let primitives = [
        ClippedPrimitive { clip_rect: Rect::EVERYTHING, primitive: Primitive::Callback(callback) },
        unclipped(rectangle(Rect::from_min_size(Pos2::ZERO, vec2(1.0, 1.0)), Color32::RED)),
    ];
    let image = paint(&primitives, &font(), [2, 1], 1.0, Color32::BLACK);
    assert_eq!(image.pixels(), [Color32::RED, Color32::BLACK]);
}

#[test]
fn a_png_file_holds_the_pixels() {
    let colors = [[255, 0, 0, 255], [1, 2, 3, 255], [0, 0, 0, 0], [255, 128, 0, 255]];
    let mut mesh = Mesh::default();
    for (x, [r, g, b, a]) in colors.into_iter().enumerate() {
        let rect = Rect::from_min_size(pos2(x as f32, 0.0), vec2(1.0, 2.0));
        mesh.add_colored_rect(rect, Color32::from_rgba_premultiplied(r, g, b, a));
    }
    // In the last column half of what is opaque: straight alpha keeps the colour.
    let half = Color32::from_rgba_premultiplied(100, 50, 0, 128);
    mesh.add_colored_rect(Rect::from_min_size(pos2(4.0, 0.0), vec2(1.0, 2.0)), half);
    let image = paint(&[unclipped(mesh)], &font(), [5, 2], 1.0, Color32::TRANSPARENT);

    let mut file = Vec::new();
    image.to_png(&mut file).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (5, 2, png::ColorType::Rgba));
    let row = [&colors.concat()[..], &[199, 100, 0, 128]].concat();
    assert_eq!(bytes, [row.clone(), row].concat());
}

#[test]
fn an_empty_picture_is_no_png_file() {
    assert!(Image::filled([0, 3], Color32::RED).to_png(&mut Vec::new()).is_err());
}

#[test]
fn differences_are_counted_beyond_the_tolerance() {
    let image = |colors: [u8; 3]| {
        let mut mesh = Mesh::default();
        for (x, level) in colors.into_iter().enumerate() {
            mesh.add_colored_rect(Rect::from_min_size(pos2(x as f32, 0.0), vec2(1.0, 1.0)), Color32::from_gray(level));
        }
        paint(&[unclipped(mesh)], &font(), [3, 1], 1.0, Color32::BLACK)
    };
    let (a, b) = (image([10, 20, 30]), image([10, 22, 35]));
    assert_eq!([0, 1, 2, 4, 5].map(|tolerance| a.difference(&b, tolerance)), [2, 2, 1, 1, 0]);
    assert_eq!(a.difference(&Image::filled([4, 1], Color32::BLACK), 255), 4, "sizes differ");
}
